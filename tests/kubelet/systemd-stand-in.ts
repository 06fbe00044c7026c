/**
 * A fake systemd for logind on a simulated host: owns org.freedesktop.systemd1 on the bus and sends SIGHUP to logind when asked to kill the
 * unit. It leaves the request to start the shutdown unit unanswered until SIGUSR1, then responds with an error, which cancels the shutdown.
 * `node systemd-stand-in.ts LOGIND_PID`.
 */
import { connect } from 'node:net';
import { decodeMessage, encodeCall, messageLength } from '../../packages/host/src/dbus/dbus-message.ts';

const BUS = { destination: 'org.freedesktop.DBus', path: '/org/freedesktop/DBus', interface: 'org.freedesktop.DBus' };

const aligned = (bytes: Buffer) => Buffer.concat([bytes, Buffer.alloc(-bytes.length & 7)]);
const number = (value: number) => Buffer.from(new Uint32Array([value]).buffer);
const text = (value: string) => Buffer.concat([number(value.length), Buffer.from(`${value}\0`)]);
const field = (code: number, type: string, value: Buffer) =>
  Buffer.concat([Buffer.from([code, 1]), Buffer.from(`${type}\0`), value]);

/** Encodes a D-Bus reply: empty, a string property, or an error. */
function answer(call: { serial: number; sender?: string }, what: { property?: string; error?: string }): Buffer {
  const body =
    what.property === undefined ? Buffer.alloc(0) : Buffer.concat([Buffer.from('\x01s\0\0'), text(what.property)]);
  const fields = [field(5, 'u', number(call.serial)), field(6, 's', text(call.sender ?? ''))];
  if (what.error !== undefined) fields.push(field(4, 's', text(what.error)));
  if (what.property !== undefined) fields.push(field(8, 'g', Buffer.from('\x01v\0')));
  const list = fields.reduce((before, next) => Buffer.concat([aligned(before), next]));
  const start = Buffer.from([0x6c, what.error === undefined ? 2 : 3, 1, 1]);
  return Buffer.concat([
    aligned(Buffer.concat([start, number(body.length), number(call.serial), number(list.length), list])),
    body,
  ]);
}

const logindPid = Number(process.argv[2]);
const socket = connect(process.env.DBUS_SYSTEM_BUS_ADDRESS?.replace('unix:path=', '') ?? '/run/dbus/system_bus_socket');
socket.write(`\0AUTH EXTERNAL ${Buffer.from('0').toString('hex')}\r\n`);
socket.once('data', () => {
  socket.write('BEGIN\r\n');
  socket.write(encodeCall(1, { ...BUS, member: 'Hello' }));
  const request = encodeCall(2, { ...BUS, member: 'RequestName', arguments: ['org.freedesktop.systemd1', 4] });
  request[request.indexOf('\x02si\0') + 2] = 'u'.charCodeAt(0);
  socket.write(request);
  let unread = Buffer.alloc(0);
  socket.on('data', (bytes) => {
    unread = Buffer.concat([unread, bytes as Buffer]);
    for (let length = messageLength(unread); length !== undefined && length <= unread.length; ) {
      const message = decodeMessage(unread.subarray(0, length));
      unread = unread.subarray(length);
      length = messageLength(unread);
      if (message.type === 'return' && message.replySerial === 2) process.stdout.write('ready\n');
      if (message.type !== 'call') continue;
      if (message.member === 'KillUnit') process.kill(logindPid, 'SIGHUP');
      if (message.member === 'StartUnit') {
        process.stdout.write('StartUnit\n');
        process.once('SIGUSR1', () => socket.write(answer(message, { error: 'org.example.Error.Refused' })));
      } else socket.write(answer(message, message.member === 'Get' ? { property: 'loaded' } : {}));
    }
  });
});
