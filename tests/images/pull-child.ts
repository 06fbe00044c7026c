/** `node pull-child.ts ROOT REFERENCE`: pulls an image in a process of its own, which a test kills in the middle. */
import { openImageRoom } from './image-room.ts';

const [root = '', reference = ''] = process.argv.slice(2);
const room = await openImageRoom(root);
process.stdout.write('pulling\n');
await room.images.pull(reference, { signal: new AbortController().signal });
await room[Symbol.asyncDispose]();
