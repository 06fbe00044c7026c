import { discoverCgroups, readCgroupStats, runProgram, writeFileDurable } from '@podwright/host';

const [file = '/tmp/cgroup.json', cgroup = '/'] = process.argv.slice(2);

// the statistics have the same fields on cgroup v1, v2 and hybrid hosts
const hierarchy = await discoverCgroups();
const { cpu, memory } = readCgroupStats(hierarchy, cgroup);
console.log(`cgroup ${hierarchy.mode}`);

// the file is written under a temporary name, synced and renamed, so after a power failure it has either the old or the new content
await writeFileDurable(file, JSON.stringify({ cpu, memory }));

// runs the program without a shell and with bounded output; a non-zero exit code is a result, not an exception
const { exitCode, stdout } = await runProgram('sh', ['-c', 'echo measured; exit 3'], {
  signal: AbortSignal.timeout(10_000),
});
console.log(`${stdout.trim()}, exit code ${exitCode}`);
