import { PodwrightError } from '@podwright/base';
import type { Command } from 'commander';
import { printProse } from '../output/terminal-text.ts';
import { settingsText } from './settings.ts';
import { TOPICS } from './topics.ts';

/** Name of the help topic that is generated from the global options. */
const SETTINGS = 'settings';

/** The topics accepted by `podwright help` in addition to command names. */
export const TOPIC_NAMES = [...Object.keys(TOPICS), SETTINGS];

/** `podwright help [TOPIC]`: prints the help for a topic or command, or the overview if none is given. */
export function showHelp(program: Command, topic: string | undefined): void {
  const command = program.commands.find((one) => one.name() === topic || one.aliases().includes(topic ?? ''));
  if (topic === undefined) print(program.helpInformation());
  else if (topic === SETTINGS)
    print(`Options of every command. The configuration file has more settings.\n\n${settingsText(program)}`);
  else if (TOPICS[topic] !== undefined) print(TOPICS[topic].text);
  else if (command !== undefined) command.outputHelp();
  else {
    throw new PodwrightError(
      'invalid_argument',
      `help ${topic}: there is no such command or topic; the topics are ${TOPIC_NAMES.join(', ')}`,
    );
  }
}

const print = (text: string) => printProse(text.trimEnd());
