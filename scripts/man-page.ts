/** Writes the manual page `podwright(1)` from the commands and the texts of `podwright help`: `node scripts/man-page.ts OUT`. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { TOPICS } from '../packages/cli/src/help/topics.ts';
import { createProgram } from '../packages/cli/src/program.ts';
import { versionOfBuild } from './build-facts.ts';

type Command = ReturnType<typeof createProgram>;

const out = process.argv[2] ?? 'dist/podwright.1';
mkdirSync(dirname(out), { recursive: true });
writeFileSync(out, manPage(createProgram(() => undefined)));

function manPage(program: Command): string {
  const options = program.options.map(({ flags, description }) => item(flags, description));
  const topics = Object.entries(TOPICS).map(([name, { text }]) =>
    section(name.replaceAll('-', ' ').toUpperCase(), `.nf\n${escaped(text.trimEnd())}\n.fi`),
  );
  return [
    `.TH PODWRIGHT 1 "" "Podwright ${versionOfBuild()}" "User Commands"`,
    section('NAME', `podwright \\- ${escaped(program.description())}`),
    section('SYNOPSIS', '.B podwright\n[\\fIoptions\\fR] \\fIcommand\\fR'),
    section('COMMANDS', commandsOf(program, '').join('\n')),
    section('OPTIONS OF EVERY COMMAND', options.join('\n')),
    ...topics,
    '',
  ].join('\n');
}

/** Returns the roff text for the visible commands, each with its options and subcommands. */
function commandsOf(parent: Command, path: string): string[] {
  const help = parent.createHelp();
  return help
    .visibleCommands(parent)
    .filter((command) => command.name() !== 'help' || path === '')
    .flatMap((command) => {
      const name = `${path}${command.name()}`;
      const usage = `${path}${help.subcommandTerm(command)}`;
      const options = command.options.map(({ flags, description }) => item(flags, description));
      const own = options.length === 0 ? [] : ['.RS', ...options, '.RE'];
      return [item(usage, command.description()), ...own, ...commandsOf(command, `${name} `)];
    });
}

function section(title: string, body: string): string {
  return `.SH ${title}\n${body}`;
}

function item(term: string, text: string): string {
  return `.TP\n.B ${escaped(term)}\n${escaped(text)}`;
}

/** Escapes text for roff (groff_char(7)); no line starts with a control character. */
function escaped(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll(/^(?=[.'])/gm, '\\&');
}
