import { spawnSync } from 'node:child_process';

/** The host's user without any rights. */
const NOBODY = 65_534;

/** What a shell script prints that nobody runs on the host; `$1`… are `args`. Its exit code does not matter. */
export function asNobody(script: string, { args = [], input = '' }: { args?: string[]; input?: string } = {}): string {
  const { error, stdout, stderr } = spawnSync('/bin/sh', ['-c', script, 'sh', ...args], {
    ...{ uid: NOBODY, gid: NOBODY, cwd: '/', input, encoding: 'utf8', maxBuffer: 64 << 20, timeout: 60_000 },
  });
  if (error !== undefined) throw error;
  return stdout + stderr;
}

const WALK = `
while IFS= read -r path; do
  if [ -d "$path" ]; then
    [ -r "$path" ] && echo "list $path"
    [ -w "$path" ] && echo "write in $path"
  elif [ -e "$path" ]; then
    [ -r "$path" ] && echo "read $path"
    [ -w "$path" ] && echo "write or connect to $path"
    [ -x "$path" ] && echo "run $path"
  fi
done; :`;

/** What nobody can do with these paths. Paths are found by somebody else: ids of containers are in command lines. */
export function opportunitiesOfNobody(paths: string[]): string[] {
  const found = asNobody(WALK, { input: paths.map((path) => `${path}\n`).join('') });
  return found.split('\n').filter((line) => line !== '');
}
