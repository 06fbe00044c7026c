import { FRAME_TYPE, frame, headersFrames, numberFrame } from '../http2/frames.ts';
import { encodeLiterals } from '../http2/hpack-encoder.ts';
import { callFrames, requestHeaders } from './bare-client.fixture.ts';

const { data, headers, priority, resetStream, settings, pushPromise, ping, goAway, windowUpdate, continuation } =
  FRAME_TYPE;

export const NOTHING = Buffer.alloc(0);
export const call = (streamId: number) => callFrames(streamId, requestHeaders('Echo'), NOTHING);
/** The headers of a request whose message never arrives. */
export const begun = (streamId: number, method = 'Echo') =>
  headersFrames(encodeLiterals(requestHeaders(method)), { streamId, endStream: false });
export const reset = (streamId: number) => numberFrame({ type: resetStream, streamId }, 8);
export const bytes = (count: number) => Buffer.alloc(count);
export const many = <T>(count: number, one: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => one(index));

/** HTTP/2 violations by a client, each with the frames that the client sends and the error that the server reports in its GOAWAY. */
export const VIOLATIONS: [what: string, frames: Buffer[], code: string][] = [
  ['a frame above the limit', [Buffer.from([1, 0, 0, 0, 0, 0, 0, 0, 1])], 'FRAME_SIZE'],
  ['a continuation without headers', [frame({ type: continuation, flags: 4, streamId: 1 })], 'PROTOCOL'],
  [
    'a header block interrupted by data',
    [frame({ type: headers, streamId: 1 }), frame({ type: data, streamId: 1 })],
    'PROTOCOL',
  ],
  [
    'a header block interrupted by a frame of an unknown type',
    [frame({ type: headers, streamId: 1 }), frame({ type: 99 })],
    'PROTOCOL',
  ],
  [
    'a continuation of another stream',
    [frame({ type: headers, streamId: 1 }), frame({ type: continuation, flags: 4, streamId: 3 })],
    'PROTOCOL',
  ],
  ['headers on stream 0', [frame({ type: headers, flags: 4 }, Buffer.of(0x82))], 'PROTOCOL'],
  ['headers on a server’s stream', [frame({ type: headers, flags: 4, streamId: 2 }, Buffer.of(0x82))], 'PROTOCOL'],
  ['headers in the middle of a request', [begun(1), begun(1)], 'PROTOCOL'],
  [
    'headers after the end of a request',
    [begun(1, 'Wait'), frame({ type: data, flags: 1, streamId: 1 }, bytes(5)), begun(1)],
    'PROTOCOL',
  ],
  [
    'data after the end of a request',
    [begun(1, 'Wait'), frame({ type: data, flags: 1, streamId: 1 }, bytes(5)), frame({ type: data, streamId: 1 })],
    'PROTOCOL',
  ],
  ['data on an idle stream', [frame({ type: data, streamId: 1 })], 'PROTOCOL'],
  ['data on stream 0', [frame({ type: data })], 'PROTOCOL'],
  ['a reset of an idle stream', [reset(1)], 'PROTOCOL'],
  ['a window update for an idle stream', [numberFrame({ type: windowUpdate, streamId: 1 }, 1)], 'PROTOCOL'],
  [
    'padding longer than its headers',
    [frame({ type: headers, flags: 0xc, streamId: 1 }, Buffer.from([9, 0x82]))],
    'PROTOCOL',
  ],
  [
    'padding longer than its data',
    [begun(1), frame({ type: data, flags: 8, streamId: 1 }, Buffer.from([9, 0]))],
    'PROTOCOL',
  ],
  ['a truncated priority in headers', [frame({ type: headers, flags: 0x24, streamId: 1 }, bytes(2))], 'PROTOCOL'],
  ['a push', [frame({ type: pushPromise, flags: 4, streamId: 1 }, bytes(5))], 'PROTOCOL'],
  [
    'a flood of empty continuations',
    [frame({ type: headers, streamId: 1 }), ...many(30, () => frame({ type: continuation, streamId: 1 }))],
    'CALM',
  ],
  [
    'a flood of full continuations',
    [
      frame({ type: headers, streamId: 1 }, bytes(16_384)),
      ...many(8, () => frame({ type: continuation, streamId: 1 }, bytes(16_384))),
    ],
    'CALM',
  ],
  [
    'a header list that expands',
    [
      frame(
        { type: headers, flags: 4, streamId: 1 },
        Buffer.concat([
          Buffer.from([0x40, 1, 0x61, 0x7f, 0x81, 0x1e]),
          Buffer.alloc(4000, 'x'),
          Buffer.alloc(9000, 0xbe),
        ]),
      ),
    ],
    'CALM',
  ],
  [
    'an invalid Huffman code',
    [frame({ type: headers, flags: 4, streamId: 1 }, Buffer.from([0x41, 0x84, 0xff, 0xff, 0xff, 0xff]))],
    'COMPRESSION',
  ],
  [
    'a table size above the limit',
    [frame({ type: headers, flags: 4, streamId: 1 }, Buffer.from([0x3f, 0xe2, 0x1f]))],
    'COMPRESSION',
  ],
  ['an index beyond the tables', [frame({ type: headers, flags: 4, streamId: 1 }, Buffer.of(0xc0))], 'COMPRESSION'],
  ...[0, 4, 6].map((size): (typeof VIOLATIONS)[0] => [
    `a priority of ${size} bytes`,
    [frame({ type: priority, streamId: 1 }, bytes(size))],
    'FRAME_SIZE',
  ]),
  ...[0, 3, 5].map((size): (typeof VIOLATIONS)[0] => [
    `a reset of ${size} bytes`,
    [begun(1), frame({ type: resetStream, streamId: 1 }, bytes(size))],
    'FRAME_SIZE',
  ]),
  ...[0, 7, 9].map((size): (typeof VIOLATIONS)[0] => [
    `a ping of ${size} bytes`,
    [frame({ type: ping }, bytes(size))],
    'FRAME_SIZE',
  ]),
  ...[0, 3, 5].map((size): (typeof VIOLATIONS)[0] => [
    `a window of ${size} bytes`,
    [frame({ type: windowUpdate }, bytes(size))],
    'FRAME_SIZE',
  ]),
  ...[0, 7].map((size): (typeof VIOLATIONS)[0] => [
    `a GOAWAY of ${size} bytes`,
    [frame({ type: goAway }, bytes(size))],
    'FRAME_SIZE',
  ]),
  ...[1, 5, 7].map((size): (typeof VIOLATIONS)[0] => [
    `settings of ${size} bytes`,
    [frame({ type: settings }, bytes(size))],
    'FRAME_SIZE',
  ]),
  ['an acknowledgement with a payload', [frame({ type: settings, flags: 1 }, bytes(6))], 'FRAME_SIZE'],
  ['settings on a stream', [frame({ type: settings, streamId: 1 })], 'PROTOCOL'],
  ['a ping on a stream', [frame({ type: ping, streamId: 1 }, bytes(8))], 'PROTOCOL'],
  ['a setting of push to 2', [frame({ type: settings }, Buffer.from('000200000002', 'hex'))], 'PROTOCOL'],
  [
    'a maximum frame size that is too small',
    [frame({ type: settings }, Buffer.from('000500000001', 'hex'))],
    'PROTOCOL',
  ],
  [
    'an initial window that is too large',
    [frame({ type: settings }, Buffer.from('000480000000', 'hex'))],
    'FLOW_CONTROL',
  ],
  ['a window of the connection that is too large', [numberFrame({ type: windowUpdate }, 0x7fffffff)], 'FLOW_CONTROL'],
  [
    'a window of a stream that is too large',
    [begun(1), numberFrame({ type: windowUpdate, streamId: 1 }, 0x7fffffff)],
    'FLOW_CONTROL',
  ],
  [
    'a setting that makes a window too large',
    [
      begun(1),
      numberFrame({ type: windowUpdate, streamId: 1 }, 0x7fff0000),
      frame({ type: settings }, Buffer.from('00047fffffff', 'hex')),
    ],
    'FLOW_CONTROL',
  ],
  ['a window update of 0', [numberFrame({ type: windowUpdate }, 0)], 'PROTOCOL'],
  ['a window update of 0 on a stream', [begun(1), numberFrame({ type: windowUpdate, streamId: 1 }, 0)], 'PROTOCOL'],
];
