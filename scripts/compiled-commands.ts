/** Commands that builds run to compile their code. Those that need a node fail, because their state directory does not exist. */
export const COMMANDS = [
  ['run', '--dry-run', 'examples/hello.yaml'],
  ['ps'],
  ['logs', 'x'],
  ['exec', 'x', '--', 'true'],
  ['delete', 'x'],
  ['describe', 'x'],
  ['--help'],
].map((command) => ['--state', '/nonexistent', ...command]);
