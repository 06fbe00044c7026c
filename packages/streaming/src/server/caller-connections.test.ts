import assert from 'node:assert/strict';
import { Socket } from 'node:net';
import { test } from 'node:test';
import { CallerConnections } from './caller-connections.ts';

/**
 * Returns a `CallerConnections` with small limits. `connect` opens a user's connection and starts a request on it, which `end` finishes.
 */
function connections() {
  const callers = new CallerConnections({ total: 6, perCaller: 4 });
  let port = 1;
  const opened = () => Object.defineProperty(new Socket(), 'remotePort', { value: port++ });
  const request = (socket: Socket, user: string) => {
    const end = callers.use(socket);
    return { isAdmitted: callers.admit(socket, user), end };
  };
  const connect = (user: string) => {
    const socket = opened();
    return { socket, ...request(socket, user) };
  };
  const idle = (user: string) => {
    const { end, ...others } = connect(user);
    end();
    return others;
  };
  return { request, connect, idle };
}

type Made = { socket: Socket };
const open = (made: Made[]) => made.map(({ socket }) => !socket.destroyed);

test('a caller above its limit loses its least recently used idle connection', () => {
  const { request, connect, idle } = connections();
  const other = idle('b');
  const made = [idle('a'), connect('a'), connect('a'), idle('a')];
  request(made[0]!.socket, 'a').end();
  made.push(idle('a'));
  assert.deepEqual(open([...made, other]), [true, true, true, false, true, true]);
});

test('when all connections are in use, the caller with the most loses an idle one to another caller', () => {
  const { idle } = connections();
  const [first, many] = [idle('b'), [idle('a'), idle('a'), idle('a'), idle('a')]];
  const others = [idle('c'), idle('d')];
  assert.deepEqual(open([first, ...others]), [true, true, true]);
  assert.deepEqual(open(many), [false, true, true, true]);
});

test('a caller that occupies all connections is refused more, but other callers are not', () => {
  const { connect, request } = connections();
  const [first, second, third] = [connect('a'), connect('a'), connect('a')];
  const made = [first, second, third, connect('a'), connect('a'), connect('a')];
  assert.equal(connect('a').isAdmitted, false);
  const others = [connect('b'), connect('b'), connect('b')];
  assert.deepEqual(
    others.map(({ isAdmitted }) => isAdmitted),
    [true, true, true],
  );
  assert.equal(connect('b').isAdmitted, false, 'half of the connections is the share of each');
  assert.equal(request(first.socket, 'a').isAdmitted, true, 'an open connection is not refused');
  assert.ok(open([...made, ...others]).every((isOpen) => isOpen));
});

test('a connection is in use while its next request runs, and belongs to that request’s user', () => {
  const { request, connect, idle } = connections();
  const first = connect('a');
  const next = request(first.socket, 'b');
  first.end(); // after the next request has begun
  const made = [idle('b'), idle('b'), idle('b'), idle('b')];
  assert.deepEqual(open([first, ...made]), [true, false, true, true, true]);
  next.end();
  idle('b');
  assert.deepEqual(open([first]), [false]);
});

test('a closed connection is not counted', async () => {
  const { connect, idle } = connections();
  const made = [connect('a'), connect('a'), connect('a'), connect('a'), connect('a'), connect('a')];
  made[0]!.socket.destroy();
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(idle('a').isAdmitted, true);
});
