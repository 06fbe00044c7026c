import { connect } from 'node:net';

const TEXT = 'an answer of the bench';
/** The port of the web server in the bench's pods. */
export const WEB_PORT = 8080;

/** Command of a container with a web server. A shell as process 1 ignores signals without a trap. */
export const WEB_SERVER = [
  'sh',
  '-c',
  `trap exit TERM; echo ${TEXT} >/srv/index.html; httpd -f -h /srv -p ${WEB_PORT} & wait`,
];

/** Whether a web server of the bench answers at port 80. A connection alone says nothing: gateways may accept those to any address. */
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
