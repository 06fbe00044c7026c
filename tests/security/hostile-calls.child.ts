/**
 * `hostile-calls.child.ts WHAT COUNT [ADDRESS]`: allocates this many units of a kernel resource shared by pods, or as many as the kernel
 * allows, prints how many it got, and holds on to them. If the count is 0, it only checks whether one can be allocated.
 */
import { constants } from 'node:os';
import koffi from 'koffi';

// Constants from linux/socket.h, linux/netlink.h, linux/keyctl.h and linux/epoll.h.
const AF_INET = 2;
const AF_NETLINK = 16;
const AF_PACKET = 17;
const [SOCK_DGRAM, SOCK_RAW, SOL_SOCKET, SO_RCVBUF, MSG_DONTWAIT] = [2, 3, 1, 8, 0x40];
const EPOLL_CTL_ADD = 1;
const EPOLLIN = 1;
const KEY_SPEC_PROCESS_KEYRING = -2;
const ADD_KEY: Partial<Record<NodeJS.Architecture, number>> = { x64: 248, arm64: 217 };
/** Size of a struct nlmsghdr and its payload. The type is unknown, so each request results in an error message. */
const REQUEST_BYTES = 32;
const REQUESTS = 500;

const libc = koffi.load(null);
const inotifyInit = libc.func('int inotify_init1(int flags)');
const epollCreate = libc.func('int epoll_create1(int flags)');
const epollControl = libc.func('int epoll_ctl(int epoll, int operation, int descriptor, void *event)');
const eventfd = libc.func('int eventfd(unsigned int value, int flags)');
const socket = libc.func('int socket(int domain, int type, int protocol)');
const send = libc.func('long send(int socket, void *bytes, size_t length, int flags)');
const sendTo = libc.func('long sendto(int socket, void *bytes, size_t length, int flags, void *address, int size)');
const setOption = libc.func('int setsockopt(int socket, int level, int name, void *value, int length)');
const addKey = libc.func('long syscall(long number, void *type, void *name, void *value, size_t length, int ring)');

const events = Array.from({ length: 500 }, () => eventfd(0, 0));
let epoll = -1;

/** Adds an epoll watch; each epoll instance watches 500 file descriptors. */
function watchByEpoll(index: number): boolean {
  if (index % events.length === 0) epoll = epollCreate(0);
  const event = Buffer.alloc(16);
  event.writeUInt32LE(EPOLLIN);
  return epoll >= 0 && epollControl(epoll, EPOLL_CTL_ADD, events[index % events.length], event) === 0;
}

/** Opens a netlink socket and fills it with unread responses. */
function fillNetlink(): boolean {
  const descriptor = socket(AF_NETLINK, SOCK_RAW, 0);
  if (descriptor < 0) return false;
  const size = Buffer.alloc(4);
  size.writeUInt32LE(1 << 20);
  setOption(descriptor, SOL_SOCKET, SO_RCVBUF, size, size.length);
  const requests = Buffer.alloc(REQUESTS * REQUEST_BYTES);
  for (let at = 0; at < requests.length; at += REQUEST_BYTES) {
    requests.writeUInt32LE(REQUEST_BYTES, at);
    requests.writeUInt16LE(999, at + 4);
    requests.writeUInt16LE(5, at + 6); // NLM_F_REQUEST, NLM_F_ACK
  }
  for (let round = 0; round < 30 && send(descriptor, requests, requests.length, MSG_DONTWAIT) >= 0; round++);
  return true;
}

const PORTS = 65_535;
const address = Buffer.alloc(16);
address.writeUInt16LE(AF_INET, 0);
address.set((process.argv[4] ?? '0.0.0.0').split('.').map(Number), 4);
let datagrams = -1;

/**
 * Sends a datagram to the next port of an address, switching to a new source socket after all ports. Each creates an entry in the kernel's
 * connection tracking table.
 */
function sendToPort(index: number): boolean {
  if (index % PORTS === 0) datagrams = socket(AF_INET, SOCK_DGRAM, 0);
  address.writeUInt16BE(1 + (index % PORTS), 2);
  sendTo(datagrams, address, 1, MSG_DONTWAIT, address, address.length); // a refusal of an earlier port is not a failure
  return true;
}

function makeKey(index: number): boolean {
  const [type, name] = [Buffer.from('user\0'), Buffer.from(`podwright-${index}\0`)];
  return addKey(ADD_KEY[process.arch]!, type, name, Buffer.alloc(100), 100, KEY_SPEC_PROCESS_KEYRING) >= 0;
}

const TAKE: Record<string, (index: number) => boolean> = {
  inotify: () => inotifyInit(0) >= 0,
  epoll: watchByEpoll,
  netlink: fillNetlink,
  packet: () => socket(AF_PACKET, SOCK_RAW, 0) >= 0,
  sockets: () => socket(AF_INET, SOCK_DGRAM, 0) >= 0,
  flows: sendToPort,
  keys: makeKey,
};

const [, , what = '', count = '0'] = process.argv;
let held = 0;
while (held < Math.max(1, Number(count)) && TAKE[what]!(held)) held++;
const errno = Object.entries(constants.errno).find(([, number]) => number === koffi.errno())?.[0];
console.log(`holding ${held} ${what}${held < Number(count) ? ` ${errno}` : ''}`);
if (Number(count) === 0) process.exit(held > 0 ? 0 : 1);
setInterval(() => undefined, 1000);
