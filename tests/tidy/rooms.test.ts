/**
 * Checks the layout of packages: which rooms (directories under `src`) import each other, no import cycles, and implementations referred to
 * by name only in composition files.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ROOM_ARROWS } from './room-arrows.ts';
import { circlesOf, imports, ownImports, read, roomOf, shipped } from './source-tree.ts';

/** Returns a package's files, except those used only by tests. */
const filesOf = (name: string) =>
  shipped.filter((path) => path.startsWith(`packages/${name}/src/`) && !path.endsWith('.fixture.ts'));
const isAtTop = (path: string) => path.split('/').length === 4;

const PACKAGES = [...new Set(shipped.map((path) => path.split('/')[1]!))];

test('cycles in a graph are found', () => {
  const graph = new Map([
    ['a', ['b', 'c']],
    ['b', ['d']],
    ['c', ['d']],
    ['d', []],
  ]);
  assert.deepEqual(circlesOf(graph), []);
  assert.deepEqual(circlesOf(new Map([...graph, ['d', ['c']]])), ['d → c → d']);
  assert.deepEqual(circlesOf(new Map([['a', ['a']]])), ['a → a']);
});

/** The rooms listed in ARCHITECTURE.md, by package: each with the index of its row. */
const ROOM_LISTS = new Map(
  read('ARCHITECTURE.md')
    .split('\n### Rooms of `')
    .slice(1)
    .map((section) => {
      const rows = section
        .split(/\n##+ /)[0]!
        .split('\n')
        .filter((line) => line.startsWith('- `'));
      const rooms = rows.flatMap((row, index) =>
        [...row.split(': ')[0]!.matchAll(/`([^`]+)`/g)].map(([, room]) => [room!, index] as const),
      );
      return [section.split('`')[0]!, new Map(rooms)] as const;
    }),
);

test('ARCHITECTURE.md has a list of rooms for each large package', () => {
  const large = PACKAGES.filter((name) => Object.keys(ROOM_ARROWS[name]!).length >= 10);
  assert.deepEqual(
    large.filter((name) => !ROOM_LISTS.has(name)),
    [],
  );
});

for (const [name, rows] of ROOM_LISTS) {
  test(`ARCHITECTURE.md has every room of ${name}, above those that it imports`, () => {
    const rowOf = (room: string) => rows.get(room) ?? rows.get(room.split('/')[0]!) ?? Number.NaN;
    const arrows = Object.entries(ROOM_ARROWS[name] ?? {});
    const wrong = arrows.flatMap(([room, targets]) =>
      targets.filter((target) => !(rowOf(target) >= rowOf(room))).map((target) => `${room} → ${target}`),
    );
    assert.deepEqual(wrong, []);
    const rooms = new Set(arrows.map(([room]) => room));
    const isThere = (room: string) => rooms.has(room) || shipped.includes(`packages/${name}/src/${room}`);
    assert.deepEqual(
      arrows.map(([room]) => room).filter((room) => Number.isNaN(rowOf(room))),
      [],
      'rooms without a row',
    );
    assert.deepEqual(
      [...rows.keys()].filter((room) => !isThere(room)),
      [],
      'rows without a room',
    );
  });
}

for (const name of PACKAGES) {
  test(`rooms of ${name} import only rooms in the table of arrows`, () => {
    const found: Record<string, Set<string>> = {};
    for (const path of filesOf(name).filter((path) => !isAtTop(path))) {
      found[roomOf(path)] ??= new Set();
      for (const target of ownImports(path).filter((target) => !isAtTop(target) && roomOf(target) !== roomOf(path)))
        found[roomOf(path)]!.add(roomOf(target));
    }
    const arrows = Object.entries(found).map(([room, targets]) => [room, [...targets].sort()]);
    assert.deepEqual(Object.fromEntries(arrows), ROOM_ARROWS[name]);
  });

  test(`rooms of ${name} form no import cycle`, () => {
    const graph = new Map<string, string[]>();
    for (const path of filesOf(name)) {
      const others = ownImports(path).map(roomOf);
      const room = roomOf(path);
      graph.set(room, [...(graph.get(room) ?? []), ...others.filter((other) => other !== room)]);
    }
    assert.deepEqual(circlesOf(graph), []);
  });
}

for (const name of PACKAGES) {
  test(`files of ${name} form no import cycle`, () => {
    assert.deepEqual(circlesOf(new Map(filesOf(name).map((path) => [path, ownImports(path)]))), []);
  });
}

/** Contracts of the runtime that may have several implementations. */
const CONTRACTS = ['ImageService', 'Network', 'SandboxController', 'Snapshotter', 'Statistics', 'TaskRuntime'];
/**
 * Files that may refer to implementations by name: they compose a runtime or an image store. `compose-parts.ts` creates the task router and
 * the statistics, which use several implementations.
 */
const COMPOSITION = [
  'packages/images/src/images.ts',
  'packages/images/src/index.ts',
  'packages/images/src/open-images.ts',
  'packages/images/src/snapshots/open-snapshotter.ts',
  'packages/runtime/src/builtins.ts',
  'packages/runtime/src/compose-parts.ts',
];

test('only composition files name implementations of contracts', () => {
  const contracts = new RegExp(`^export class (\\w+)[^{]*\\bimplements [^{]*\\b(?:${CONTRACTS.join('|')})\\b`, 'gm');
  const homes = new Map(
    shipped.flatMap((path) => [...read(path).matchAll(contracts)].map((match) => [match[1]!, path] as const)),
  );
  assert.ok(homes.size >= CONTRACTS.length, `the implementations are found: ${[...homes.keys()]}`);
  const wrong = shipped
    .filter((path) => !COMPOSITION.includes(path))
    .flatMap((path) =>
      [...homes]
        .filter(([name, home]) => home !== path && imports(path).length > 0 && namesOf(path).has(name))
        .map(([name]) => `${path} names ${name}`),
    );
  assert.deepEqual(wrong, []);
});

/** Returns the names that a file imports or re-exports. */
function namesOf(path: string): Set<string> {
  const lists = [...read(path).matchAll(/^(?:import|export)\b[^;{]*\{([^}]*)\} from/gm)];
  return new Set(lists.flatMap((list) => list[1]!.split(',').map((name) => name.replace(/\btype\b/, '').trim())));
}
