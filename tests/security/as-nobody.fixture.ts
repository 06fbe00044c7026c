import { spawnSync } from 'node:child_process';

/** UID of the host's unprivileged user nobody. */
const NOBODY = 65_534;

/** `args` are `$1`…; `uid` defaults to that of the user nobody. */
type ScriptOptions = { args?: string[]; input?: string; uid?: number };

/** Runs a shell script on the host as the user nobody. Returns its output; ignores its exit code. */
export function asNobody(script: string, { args = [], input = '', uid = NOBODY }: ScriptOptions = {}): string {
  const { error, stdout, stderr } = spawnSync('/bin/sh', ['-c', script, 'sh', ...args], {
    ...{ uid, gid: uid, cwd: '/', input, encoding: 'utf8', maxBuffer: 64 << 20, timeout: 60_000 },
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

/**
 * Returns the accesses that the user nobody has to these paths. Local users can find out paths, because container IDs are visible in
 * command lines.
 */
export function opportunitiesOfNobody(paths: string[]): string[] {
  const found = asNobody(WALK, { input: paths.map((path) => `${path}\n`).join('') });
  return found.split('\n').filter((line) => line !== '');
}
