import { discoverCgroups, readCgroupStats, runProgram, writeFileDurable } from '@podwright/host';

const [file = '/tmp/cgroup.json', cgroup = '/'] = process.argv.slice(2);

// The same numbers from cgroup v1, v2 and hybrid hosts.
const hierarchy = await discoverCgroups();
const { cpu, memory } = readCgroupStats(hierarchy, cgroup);
console.log(`cgroup ${hierarchy.mode}`);

// Written to a temporary file, synced and renamed: after a power failure, the file has either the old or the new content.
await writeFileDurable(file, JSON.stringify({ cpu, memory }));

// Runs without a shell and with bounded output. A non-zero exit code is a result, not an exception.
const { exitCode, stdout } = await runProgram('sh', ['-c', 'echo measured; exit 3'], {
  signal: AbortSignal.timeout(10_000),
});
console.log(`${stdout.trim()}, exit code ${exitCode}`);
