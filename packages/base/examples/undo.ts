import { errorCode, KeyedLock, PodwrightError, Undo, wrapError } from '@podwright/base';

const names = new Set<string>();
const locks = new KeyedLock();

/** Operations on the same ID run one at a time. If one fails, everything it acquired is released, newest first. */
const create = (id: string): Promise<void> =>
  locks.run(id, async () => {
    const undo = new Undo();
    try {
      if (names.has(id)) throw new PodwrightError('already_exists', `the name ${id} is in use`);
      names.add(id);
      undo.add('release the name', () => void names.delete(id));
      if (id === 'broken') throw new PodwrightError('unavailable', 'there is no network');
    } catch (error) {
      await undo.run();
      throw wrapError(`create ${id}`, error);
    }
  });

for (const id of ['web', 'web', 'broken'])
  await create(id).then(
    () => console.log(`${id}: created`),
    (error) => console.log(`${errorCode(error)}: ${error.message}`),
  );
console.log(`names in use: ${[...names].join(', ')}`);
