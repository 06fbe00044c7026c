import type { Command } from 'commander';
import type { Action } from './action.ts';
import { wideOutputOption } from './options.ts';

/** Adds the commands for images. */
export function addImageCommands(program: Command, action: Action): void {
  program
    .command('images')
    .description('list images')
    .addOption(wideOutputOption())
    .option('-q, --quiet', 'only their ids')
    .option('--digests', "with their registries' digests")
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
    .command('load [path]')
    .description('load images from an OCI layout, an OCI archive or a Docker archive; - is standard input')
    .option('-i, --input <file>', 'the archive, as in docker load')
    .option('--name <reference>', 'name for an image that the archive does not name')
    .action(
      action(async (context, [path, options]: [string | undefined, import('../commands/load.ts').LoadOptions]) =>
        (await import('../commands/load.ts')).load(context, path, options),
      ),
    );
  program
    .command('save <image...>')
    .description('write images to an OCI archive, which docker loads as well')
    .option('-o, --output <file>', 'where to (default: standard output)')
    .action(
      action(async (context, [references, options]: [string[], { output?: string }]) =>
        (await import('../commands/save.ts')).save(context, references, options),
      ),
    );
  program
    .command('rmi <image...>')
    .description('remove names of images; an image is deleted with its last name')
    .option('-f, --force', 'also while pods use it')
    .action(
      action(async (context, [references, options]: [string[], import('../commands/rmi.ts').RemoveImagesOptions]) =>
        (await import('../commands/rmi.ts')).removeImages(context, references, options),
      ),
    );
  program
    .command('prune')
    .description('remove unused images without a name, and leftovers of failed pulls')
    .option('-a, --all', 'also unused images with a name')
    .option('--dry-run', 'only list what would be removed')
    .action(
      action(async (context, [options]: [import('../commands/prune.ts').PruneOptions]) =>
        (await import('../commands/prune.ts')).prune(context, options),
      ),
    );
}
