//! Redis behind TLS: instances talk through it, and to nobody who cannot show who they are.

use std::fs;

use kurz_test_support::servers::Redis;
use kurz_test_support::visitor::follow;
use kurz_test_support::{Kind, TestServer};
use rcgen::{CertifiedKey, generate_simple_self_signed};

use crate::store::postgres::pem;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn limits_hold_through_redis_behind_tls_and_a_stranger_is_not_spoken_to() {
    let CertifiedKey { cert, signing_key } =
        generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let other = generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: String| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let certificate = file("server.crt", pem("CERTIFICATE", cert.der()));
    let key = file("server.key", pem("PRIVATE KEY", &signing_key.serialize_der()));
    let wrong = file("other.crt", pem("CERTIFICATE", other.cert.der()));
    let (redis, url) = Redis::protected(&certificate, &key);

    let instances =
        TestServer::builder().redis(&url).setting("KURZ_TLS_CA", &certificate).start_instances(2);
    let path = instances.limited(100).await;
    let answers = follow(&instances.addresses(), &path, 16, 300).await;
    assert_eq!((answers.count(302), answers.count(429)), (100, 200));
    assert!(redis.commands() > 0, "they talk through it");

    let program = TestServer::builder()
        .default_timeouts()
        .database(Kind::Postgres)
        .setting("KURZ_REDIS", &url)
        .setting("KURZ_TLS_CA", &wrong)
        .process();
    program.start().wait_for_log("invalid peer certificate");
}
