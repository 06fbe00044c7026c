/** `node pull-child.ts ROOT REFERENCE`: pulls an image in a separate process that a test kills during the pull. */
import { openImageRoom } from './image-room.ts';

const [root = '', reference = ''] = process.argv.slice(2);
const room = await openImageRoom(root);
process.stdout.write('pulling\n');
await room.images.pull(reference, { signal: new AbortController().signal });
await room[Symbol.asyncDispose]();
