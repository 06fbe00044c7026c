/** System calls that every container may make, because they affect only the container's own processes, files and sockets. */
export const ALLOWED_SYSCALLS = words(`
  access chdir chmod chown chown32 close close_range copy_file_range creat dup dup2 dup3 faccessat faccessat2 fadvise64
  fadvise64_64 fallocate fanotify_mark fchdir fchmod fchmodat fchmodat2 fchown fchown32 fchownat fcntl fcntl64 fdatasync
  fgetxattr flistxattr flock fremovexattr fsetxattr fstat fstat64 fstatat64 fstatfs fstatfs64 fsync ftruncate
  ftruncate64 futimesat getcwd getdents getdents64 getxattr getxattrat inotify_add_watch inotify_init inotify_init1
  inotify_rm_watch ioctl lchown lchown32 lgetxattr link linkat listxattr listxattrat llistxattr _llseek lremovexattr
  lseek lsetxattr lstat lstat64 mkdir mkdirat mknod mknodat name_to_handle_at newfstatat open openat openat2 pipe pipe2
  pread64 preadv preadv2 pwrite64 pwritev pwritev2 read readahead readlink readlinkat readv removexattr removexattrat
  rename renameat renameat2 rmdir sendfile sendfile64 setxattr setxattrat splice stat stat64 statfs statfs64 statx
  symlink symlinkat sync sync_file_range syncfs tee truncate truncate64 umask unlink unlinkat utime utimensat
  utimensat_time64 utimes vmsplice write writev listmount statmount

  epoll_create epoll_create1 epoll_ctl epoll_ctl_old epoll_pwait epoll_pwait2 epoll_wait epoll_wait_old eventfd eventfd2
  io_cancel io_destroy io_getevents io_pgetevents io_pgetevents_time64 io_setup io_submit _newselect poll ppoll
  ppoll_time64 pselect6 pselect6_time64 select signalfd signalfd4 timerfd_create timerfd_gettime timerfd_gettime64
  timerfd_settime timerfd_settime64

  accept accept4 bind connect getpeername getsockname getsockopt listen recv recvfrom recvmmsg recvmmsg_time64 recvmsg
  send sendmmsg sendmsg sendto setsockopt shutdown socketcall socketpair

  brk cachestat madvise map_shadow_stack membarrier memfd_create memfd_secret mincore mlock mlock2 mlockall mmap mmap2
  mprotect mremap mseal msync munlock munlockall munmap pkey_alloc pkey_free pkey_mprotect remap_file_pages

  ipc mq_getsetattr mq_notify mq_open mq_timedreceive mq_timedreceive_time64 mq_timedsend mq_timedsend_time64 mq_unlink
  msgctl msgget msgrcv msgsnd semctl semget semop semtimedop semtimedop_time64 shmat shmctl shmdt shmget

  adjtimex alarm clock_adjtime clock_adjtime64 clock_getres clock_getres_time64 clock_gettime clock_gettime64
  clock_nanosleep clock_nanosleep_time64 getitimer gettimeofday nanosleep setitimer time timer_create timer_delete
  timer_getoverrun timer_gettime timer_gettime64 timer_settime timer_settime64 times

  capget capset execve execveat exit exit_group fork futex futex_requeue futex_time64 futex_wait futex_waitv futex_wake
  getcpu getegid getegid32 geteuid geteuid32 getgid getgid32 getgroups getgroups32 getpgid getpgrp getpid getppid
  getpriority getrandom getresgid getresgid32 getresuid getresuid32 getrlimit get_robust_list getrusage getsid
  get_thread_area gettid getuid getuid32 ioprio_get ioprio_set kill pause pidfd_open pidfd_send_signal prctl prlimit64
  process_mrelease process_vm_readv process_vm_writev ptrace restart_syscall rseq sched_getaffinity sched_getattr
  sched_getparam sched_get_priority_max sched_get_priority_min sched_getscheduler sched_rr_get_interval
  sched_rr_get_interval_time64 sched_setaffinity sched_setattr sched_setparam sched_setscheduler sched_yield setfsgid
  setfsgid32 setfsuid setfsuid32 setgid setgid32 setgroups setgroups32 setpgid setpriority setregid setregid32 setresgid
  setresgid32 setresuid setresuid32 setreuid setreuid32 setrlimit set_robust_list setsid set_thread_area set_tid_address
  setuid setuid32 sigaltstack sigprocmask sigreturn rt_sigaction rt_sigpending rt_sigprocmask rt_sigqueueinfo
  rt_sigreturn rt_sigsuspend rt_sigtimedwait rt_sigtimedwait_time64 rt_tgsigqueueinfo sysinfo tgkill tkill ugetrlimit
  uname uretprobe vfork wait4 waitid waitpid

  landlock_add_rule landlock_create_ruleset landlock_restrict_self lsm_get_self_attr lsm_list_modules lsm_set_self_attr
  seccomp
`);

/** System calls that each capability additionally allows. */
export const syscallsOfCapability: Record<string, string[]> = {
  CAP_BPF: words('bpf'),
  CAP_DAC_READ_SEARCH: words('open_by_handle_at'),
  CAP_PERFMON: words('perf_event_open'),
  CAP_SYS_ADMIN: words(`bpf clone clone3 fanotify_init fsconfig fsmount fsopen fspick lookup_dcookie mount mount_setattr
    move_mount open_tree perf_event_open quotactl quotactl_fd setdomainname sethostname setns syslog
    umount umount2 unshare`),
  CAP_SYS_BOOT: words('reboot'),
  CAP_SYS_CHROOT: words('chroot'),
  CAP_SYS_MODULE: words('delete_module init_module finit_module'),
  CAP_SYS_NICE: words('get_mempolicy mbind set_mempolicy set_mempolicy_home_node'),
  CAP_SYS_PACCT: words('acct'),
  CAP_SYS_PTRACE: words('kcmp pidfd_getfd process_madvise'),
  CAP_SYS_RAWIO: words('iopl ioperm'),
  CAP_SYS_TIME: words('settimeofday stime clock_settime clock_settime64'),
  CAP_SYS_TTY_CONFIG: words('vhangup'),
  CAP_SYSLOG: words('syslog'),
};

/** System calls that exist only on certain architectures. */
export const syscallsOfArchitecture: Partial<Record<NodeJS.Architecture, string[]>> = {
  x64: words('arch_prctl modify_ldt'),
  ia32: words('modify_ldt'),
  arm64: words('arm_fadvise64_64 arm_sync_file_range sync_file_range2 breakpoint cacheflush set_tls'),
  arm: words('arm_fadvise64_64 arm_sync_file_range sync_file_range2 breakpoint cacheflush set_tls'),
  ppc64: words('sync_file_range2 swapcontext'),
  s390x: words('s390_pci_mmio_read s390_pci_mmio_write s390_runtime_instr'),
  riscv64: words('riscv_flush_icache riscv_hwprobe'),
};

/** Architectures in a seccomp filter: the host's native architecture first, then those whose programs its kernel can also run. */
export const seccompArchitectures: Partial<Record<NodeJS.Architecture, string[]>> = {
  x64: ['SCMP_ARCH_X86_64', 'SCMP_ARCH_X86', 'SCMP_ARCH_X32'],
  ia32: ['SCMP_ARCH_X86'],
  arm64: ['SCMP_ARCH_AARCH64', 'SCMP_ARCH_ARM'],
  arm: ['SCMP_ARCH_ARM'],
  ppc64: ['SCMP_ARCH_PPC64LE'],
  s390x: ['SCMP_ARCH_S390X', 'SCMP_ARCH_S390'],
  riscv64: ['SCMP_ARCH_RISCV64'],
  loong64: ['SCMP_ARCH_LOONGARCH64'],
};

function words(text: string): string[] {
  return text.trim().split(/\s+/);
}
