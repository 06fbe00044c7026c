import { openShims, type Scratch } from './fixture.ts';

/** A program to be killed: serves existing shims' tasks. */
await openShims(JSON.parse(process.argv[2]!) as Scratch);
process.stdout.write('ready\n');
setInterval(() => undefined, 60_000);
