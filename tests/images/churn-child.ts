/** `node churn-child.ts ROOT LAYOUT REFERENCE…`: pulls, loads, saves and removes images concurrently, in a loop, until killed. */
import { join } from 'node:path';
import { openImageRoom } from './image-room.ts';

const [root = '', layout = '', ...references] = process.argv.slice(2);
const room = await openImageRoom(root);
const { signal } = new AbortController();
process.stdout.write('churning\n');
const { images } = room;

const ignoringErrors = (work: Promise<unknown>) => work.catch(() => undefined);

async function pullAndRemove(reference: string): Promise<never> {
  for (;;) {
    const { id } = await images.pull(reference, { signal });
    await ignoringErrors(images.save([id], join(root, 'saved.tar'), { signal }));
    await ignoringErrors(images.remove(id));
  }
}

async function loadAndRemove(): Promise<never> {
  for (;;) {
    for (const { id } of await images.load(layout, { signal, name: 'localhost/loaded:1' }))
      await ignoringErrors(images.remove(id));
    await images.collectGarbage();
  }
}

await Promise.all([...references.map(pullAndRemove), loadAndRemove()]);
