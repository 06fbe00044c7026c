import { connect } from 'node:net';

const TEXT = 'a response of the bench';
/** Port on which the web server in the benchmark pods listens. */
export const WEB_PORT = 8080;

/**
 * Command of a benchmark container that runs a web server whose response is `TEXT`. The trap is needed because process 1 ignores SIGTERM by
 * default.
 */
export const WEB_SERVER = [
  'sh',
  '-c',
  `trap exit TERM; echo ${TEXT} >/srv/index.html; httpd -f -h /srv -p ${WEB_PORT} & wait`,
];

/**
 * Resolves with `true` if a benchmark web server responds on port 80 within 250 ms, otherwise with `undefined`. An accepted connection is
 * not enough, because gateways may accept connections to any address.
 */
export function answers(host: string): Promise<true | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host, port: 80, timeout: 250 });
    let text = '';
    const end = () => {
      socket.destroy();
      resolve(text.includes(TEXT) || undefined);
    };
    socket.once('connect', () => socket.write('GET / HTTP/1.0\r\n\r\n'));
    socket.on('data', (data) => {
      text += data;
      if (text.includes(TEXT)) end();
    });
    for (const event of ['end', 'error', 'timeout']) socket.once(event, end);
  });
}
