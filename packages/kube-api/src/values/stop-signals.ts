const PLAIN_SIGNALS = [
  ...['SIGABRT', 'SIGALRM', 'SIGBUS', 'SIGCHLD', 'SIGCLD', 'SIGCONT', 'SIGFPE', 'SIGHUP', 'SIGILL', 'SIGINT', 'SIGIO'],
  ...['SIGIOT', 'SIGKILL', 'SIGPIPE', 'SIGPOLL', 'SIGPROF', 'SIGPWR', 'SIGQUIT', 'SIGSEGV', 'SIGSTKFLT', 'SIGSTOP'],
  ...['SIGSYS', 'SIGTERM', 'SIGTRAP', 'SIGTSTP', 'SIGTTIN', 'SIGTTOU', 'SIGURG', 'SIGUSR1', 'SIGUSR2', 'SIGVTALRM'],
  ...['SIGWINCH', 'SIGXCPU', 'SIGXFSZ', 'SIGRTMIN', 'SIGRTMAX'],
];
/** Numbered signals relative to SIGRTMIN and SIGRTMAX. */
const LAST_AFTER_MIN = 15;
const LAST_BEFORE_MAX = 14;

/** The stop signals of a container (v1 Signal), with the API's names, such as `SIGRTMIN+1`. */
export const STOP_SIGNALS: ReadonlySet<string> = new Set([
  ...PLAIN_SIGNALS,
  ...Array.from({ length: LAST_AFTER_MIN }, (_, index) => `SIGRTMIN+${index + 1}`),
  ...Array.from({ length: LAST_BEFORE_MAX }, (_, index) => `SIGRTMAX-${index + 1}`),
]);
