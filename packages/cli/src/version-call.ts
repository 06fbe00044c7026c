import { VERSION } from '@podwright/base';

/** Whether the arguments are just `--version`, which is answered without loading the command line. */
export function isVersionCall([first = '', ...others]: string[]): boolean {
  return ['--version', '-V'].includes(first) && others.length === 0;
}

export function printVersion(): void {
  process.stdout.on('error', ({ message }) => {
    console.error(`podwright: write the version: ${message}`);
    process.exitCode = 1;
  });
  process.stdout.write(`${VERSION}\n`);
}
