/** V8 flags of daemons, which the executable passes to itself in NODE_OPTIONS, as bin/podwright passes them to Node.js. */

/** The flag that NODE_OPTIONS cannot contain, but that V8 reads at each collection. */
const LATE_FLAG = '--heap-growing-percent=';

/** Starts this program again in the same process, with the flags. Does not return. */
export function becomeDaemon(args: string[], flags: string[]): void {
  const { env, execPath, argv0 } = process;
  const added = flags.filter((flag) => !flag.startsWith(LATE_FLAG)).join(' ');
  if (env.NODE_OPTIONS?.endsWith(added))
    throw new Error(
      `start ${execPath} as a daemon: Node.js ignores NODE_OPTIONS, as for files with capabilities (setcap); remove them`,
    );
  const memory = flags.some((flag) => flag.startsWith(LATE_FLAG))
    ? {}
    : { MALLOC_TRIM_THRESHOLD_: env.MALLOC_TRIM_THRESHOLD_ || '131072' };
  process.execve!(execPath, [argv0, ...args], {
    ...env,
    ...memory,
    MALLOC_ARENA_MAX: env.MALLOC_ARENA_MAX || '1',
    NODE_OPTIONS: [env.NODE_OPTIONS, added].join(' '),
  });
}

/** In a process with the flags: sets the late flag, and removes the others from the environment of the programs that it starts. */
export function settleDaemon(flags: string[]): void {
  delete process.env.NODE_OPTIONS;
  const late = flags.find((flag) => flag.startsWith(LATE_FLAG));
  if (late !== undefined) process.getBuiltinModule('node:v8').setFlagsFromString(late);
}
