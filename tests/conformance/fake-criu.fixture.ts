import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Debian's runc, by absolute path: if the fake runc looked it up in PATH, it would find itself. */
const runc = '/usr/sbin/runc';

/**
 * Passes all calls through to runc except `checkpoint`, for which it records the arguments and the task's state. If the file `fail` or
 * `hang` exists in its directory, checkpoints fail or hang.
 */
const fakeRuntime = (directory: string) => `#!/bin/sh
case " $* " in
*" checkpoint "*)
  while [ $# -gt 0 ]; do
    case "$1" in
    --root) root=$2; shift ;;
    --image-path) images=$2; shift ;;
    --work-path) work=$2; shift ;;
    esac
    last=$1; shift
  done
  if [ -e ${directory}/fail ]; then
    echo '(00.1) Error (criu/mem.c:1): too much memory' > "$work/dump.log"
    echo '(00.2) Error (criu/cr-dump.c:1): Dumping FAILED.' >> "$work/dump.log"
    printf '%s\\n' 'time="x" level=error msg="criu failed: type DUMP errno 0\\nlog file: '"$work"'/dump.log"' >&2
    exit 1
  fi
  ${runc} --root "$root" state "$last" > "$images/state.json"
  echo played > "$work/dump.log"
  [ ! -e ${directory}/hang ] || { echo $$ > ${directory}/hangs; exec sleep 1000; }
  exit 0 ;;
esac
exec ${runc} "$@"
`;

/** Writes an OCI runtime that fakes checkpoints; returns its path. */
export function writeFakeRunc(directory: string): string {
  return writeProgram(directory, 'runc', fakeRuntime(directory));
}

/** Writes a fake `criu` to be found in PATH. */
export function writeFakeCriu(directory: string): string {
  return writeProgram(directory, 'criu', '#!/bin/sh\n');
}

function writeProgram(directory: string, name: string, text: string): string {
  const path = join(directory, name);
  mkdirSync(directory, { recursive: true });
  writeFileSync(path, text);
  chmodSync(path, 0o755);
  return path;
}
