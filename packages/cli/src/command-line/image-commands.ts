import type { Command } from 'commander';
import type { Action } from './action.ts';
import { outputOption } from './options.ts';

/** Commands for images. */
export function addImageCommands(program: Command, action: Action): void {
  program
    .command('images')
    .description('list images')
    .addOption(outputOption())
    .action(
      action(async (context, [options]: [import('../commands/images.ts').ImagesOptions]) =>
        (await import('../commands/images.ts')).images(context, options),
      ),
    );
  program
    .command('pull <image...>')
    .description('pull images from their registries')
    .option('--creds <user[:password]>', 'credentials; without a password it is read from standard input')
    .option('--authfile <file>', "credentials from a docker configuration, as 'docker login' writes it")
    .action(
      action(
        async (context, [references, options]: [string[], import('../commands/pull-credentials.ts').PullOptions]) =>
          (await import('../commands/pull.ts')).pull(context, references, options),
      ),
    );
  program
    .command('load <path>')
    .description('load images from an OCI layout, an OCI archive or a Docker archive')
    .option('--name <reference>', 'name for an image that the archive does not name')
    .action(
      action(async (context, [path, options]: [string, { name?: string }]) =>
        (await import('../commands/load.ts')).load(context, path, options),
      ),
    );
  program
    .command('rmi <image...>')
    .description('remove images')
    .action(
      action(async (context, [references]: [string[]]) =>
        (await import('../commands/rmi.ts')).removeImages(context, references),
      ),
    );
}
