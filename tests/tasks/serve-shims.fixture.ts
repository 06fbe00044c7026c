import { openShims, type Scratch } from './fixture.ts';

/** Run as a program of its own, to be killed: serves the tasks of shims that there are. */
await openShims(JSON.parse(process.argv[2]!) as Scratch);
process.stdout.write('ready\n');
setInterval(() => undefined, 60_000);
