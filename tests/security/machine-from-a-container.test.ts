/** A container with the RuntimeDefault profile makes system calls that would affect the host; all are denied. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { SecurityProfile_ProfileType as ProfileType } from '@podwright/cri';
import { AttackedRuntime, OCI_RUNTIMES } from './attacked-runtime.fixture.ts';
import { callFiles, makeCalls, type SystemCall } from './syscall-program.fixture.ts';

const [EPERM, ENOSYS] = [1, 38];
const CLONE_NEWUSER = 0x10000000n;

/** System call numbers on x86-64 and arm64. */
const numbers: Record<string, [number, number]> = {
  acct: [163, 89],
  add_key: [248, 217],
  bpf: [321, 280],
  clock_settime: [227, 112],
  delete_module: [176, 106],
  fanotify_init: [300, 262],
  finit_module: [313, 273],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fsopen: [430, 430],
  fspick: [433, 433],
  get_mempolicy: [239, 236],
  init_module: [175, 105],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  io_uring_setup: [425, 425],
  kcmp: [312, 272],
  kexec_file_load: [320, 294],
  kexec_load: [246, 104],
  keyctl: [250, 219],
  lookup_dcookie: [212, 18],
  mbind: [237, 235],
  mount: [165, 40],
  mount_setattr: [442, 442],
  move_mount: [429, 429],
  move_pages: [279, 239],
  open_by_handle_at: [304, 265],
  open_tree: [428, 428],
  perf_event_open: [298, 241],
  pidfd_getfd: [438, 438],
  pivot_root: [155, 41],
  process_madvise: [440, 440],
  quotactl: [179, 60],
  reboot: [169, 142],
  request_key: [249, 218],
  set_mempolicy: [238, 237],
  setdomainname: [171, 162],
  sethostname: [170, 161],
  setns: [308, 268],
  settimeofday: [164, 170],
  swapoff: [168, 225],
  swapon: [167, 224],
  syslog: [103, 116],
  umount2: [166, 39],
  unshare: [272, 97],
  userfaultfd: [323, 282],
  vhangup: [153, 58],
};
const numberOf = ([x64, arm64]: [number, number]) => (process.arch === 'x64' ? x64 : arm64);
const refused: Record<string, SystemCall> = {
  ...Object.fromEntries(Object.entries(numbers).map(([name, pair]) => [name, { number: numberOf(pair) }])),
  'clone-of-a-user-namespace': { number: numberOf([56, 220]), args: [CLONE_NEWUSER | 17n] },
  'personality-that-no-program-needs': { number: numberOf([135, 92]), args: [0x0400000n] },
};
/** System calls that are denied only by the seccomp profile: an unconfined process with the same capabilities is allowed to make them. */
const byProfileAlone = ['unshare', 'get_mempolicy', 'personality-that-no-program-needs'];

const attacked = new AttackedRuntime();
let image = '';
before(async () => {
  await attacked.start();
  image = await attacked.image('calls', callFiles({ ...refused, clone3: { number: 435 } }));
});
after(() => attacked.end());

for (const handler of OCI_RUNTIMES) {
  test(`${handler}: system calls that act on the host are refused, and clone3 fails with ENOSYS`, async () => {
    const pod = await attacked.pod(`calls-${handler}`, { handler });
    const under = (profileType: ProfileType) =>
      makeCalls(attacked, { pod, image, linux: { securityContext: { seccomp: { profileType } } } });
    const answers = await under(ProfileType.RuntimeDefault);
    for (const name of Object.keys(refused)) assert.equal(answers[name], EPERM, name);
    assert.equal(answers.clone3, ENOSYS);
    const unconfined = await under(ProfileType.Unconfined);
    // a kernel without NUMA lacks some of them, but none may fail with EPERM
    for (const name of byProfileAlone) assert.notEqual(unconfined[name], EPERM, name);
  });
}
