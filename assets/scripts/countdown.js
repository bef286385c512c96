// How long a link still lives, in the words that the page brings along.
const timeLeft = (until, words) => {
  const seconds = Math.max(0, Math.floor((until - Date.now()) / 1000));
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor((seconds % 3600) / 60);
  if (hours > 0) return `${hours} ${words.hours} ${minutes} ${words.minutes}`;
  if (minutes > 0) return `${minutes} ${words.minutes} ${seconds % 60} ${words.seconds}`;
  return `${seconds} ${words.seconds}`;
};

const countDown = () => {
  const words = document.querySelector("[data-hours]")?.dataset;
  if (!words) return;
  for (const time of document.querySelectorAll("time[data-countdown]")) {
    const text = timeLeft(Date.parse(time.dateTime), words);
    if (time.textContent !== text) time.textContent = text;
    const label = time.parentElement.querySelector("[data-in]");
    if (label) label.textContent = label.dataset.in;
  }
};

