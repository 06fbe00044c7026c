import { openShims, type Scratch } from './fixture.ts';

/** A program that a test kills: takes over existing shims and serves their tasks. */
await openShims(JSON.parse(process.argv[2]!) as Scratch);
process.stdout.write('ready\n');
setInterval(() => undefined, 60_000);
