//! The variables that Kubernetes adds to the environment of every container, for each Service of the
//! namespace. Those for a Service named `kurz` or `kurz-…` begin like our settings and are not ours.

/// Whether this is such a variable: `KURZ_SERVICE_HOST`, `KURZ_SERVICE_PORT`, `KURZ_SERVICE_PORT_HTTP`,
/// `KURZ_PORT=tcp://…`, `KURZ_PORT_8080_TCP` and its `_PROTO`, `_PORT` and `_ADDR`.
pub(super) fn is_service_variable(name: &str, text: &str) -> bool {
    if name.ends_with("_SERVICE_HOST") || name.ends_with("_SERVICE_PORT") {
        return true;
    }
    if name.ends_with("_PORT")
        && ["tcp://", "udp://", "sctp://"].iter().any(|p| text.starts_with(p))
    {
        return true;
    }
    if name.contains("_SERVICE_PORT_") {
        return text.parse::<u16>().is_ok();
    }
    name.match_indices("_PORT_").any(|(at, before)| {
        let rest = name.get(at + before.len()..).unwrap_or_default();
        let mut words = rest.split('_');
        let is_port = words.next().is_some_and(|port| port.parse::<u16>().is_ok());
        let is_protocol = matches!(words.next(), Some("TCP" | "UDP" | "SCTP"));
        let is_suffix = matches!(words.next(), None | Some("PROTO" | "PORT" | "ADDR"));
        is_port && is_protocol && is_suffix && words.next().is_none()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variables_of_services_are_known_and_settings_are_not_taken_for_them() {
        let table = [
            ("KURZ_SERVICE_HOST", "10.96.0.17"),
            ("KURZ_SERVICE_PORT", "80"),
            ("KURZ_SERVICE_PORT_HTTP", "80"),
            ("KURZ_PORT", "tcp://10.96.0.17:80"),
            ("KURZ_PORT_80_TCP", "tcp://10.96.0.17:80"),
            ("KURZ_PORT_80_TCP_PROTO", "tcp"),
            ("KURZ_PORT_80_TCP_PORT", "80"),
            ("KURZ_PORT_80_TCP_ADDR", "10.96.0.17"),
            ("KURZ_ADMIN_SERVICE_HOST", "10.96.0.18"),
            ("KURZ_ADMIN_PORT_9580_TCP_ADDR", "10.96.0.18"),
        ];
        for (name, text) in table {
            assert!(is_service_variable(name, text), "{name}={text}");
        }
        let table = [
            ("KURZ_PORT", "8080"),
            ("KURZ_LISTEN", "tcp://10.96.0.17:80"),
            ("KURZ_PORT_80_TCP_NAME", "x"),
            ("KURZ_PORT_HTTP_TCP", "80"),
            ("KURZ_SERVICE_PORT_HTTP", "http"),
            ("KURZ_STORE", "postgres://db/kurz"),
        ];
        for (name, text) in table {
            assert!(!is_service_variable(name, text), "{name}={text}");
        }
    }
}
