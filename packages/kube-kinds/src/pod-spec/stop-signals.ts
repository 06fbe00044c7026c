/** Signals allowed in `lifecycle.stopSignal`, in the order of upstream's messages. */

const PLAIN =
  'SIGABRT SIGALRM SIGBUS SIGCHLD SIGCLD SIGCONT SIGFPE SIGHUP SIGILL SIGINT SIGIO SIGIOT SIGKILL SIGPIPE SIGPOLL SIGPROF SIGPWR SIGQUIT SIGRTMAX SIGRTMIN SIGSEGV SIGSTKFLT SIGSTOP SIGSYS SIGTERM SIGTRAP SIGTSTP SIGTTIN SIGTTOU SIGURG SIGUSR1 SIGUSR2 SIGVTALRM SIGWINCH SIGXCPU SIGXFSZ';

const LOW_REAL_TIME = Array.from({ length: 15 }, (_, index) => `SIGRTMIN+${index + 1}`);
const HIGH_REAL_TIME = Array.from({ length: 14 }, (_, index) => `SIGRTMAX-${index + 1}`);

export const LINUX_STOP_SIGNALS: readonly string[] = [...PLAIN.split(' '), ...LOW_REAL_TIME, ...HIGH_REAL_TIME].sort();
export const WINDOWS_STOP_SIGNALS: readonly string[] = ['SIGKILL', 'SIGTERM'];
