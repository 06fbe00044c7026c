/**
 * Translates CLICOLOR and CLICOLOR_FORCE (bixense.com/clicolors) to NO_COLOR and FORCE_COLOR, which Node.js supports and which take
 * precedence if set.
 */
export function heedColourChoice(environment: NodeJS.ProcessEnv): void {
  const { CLICOLOR, CLICOLOR_FORCE, NO_COLOR, FORCE_COLOR } = environment;
  if (NO_COLOR || FORCE_COLOR !== undefined) return;
  if (CLICOLOR_FORCE && CLICOLOR_FORCE !== '0') environment.FORCE_COLOR = '1';
  else if (CLICOLOR === '0') environment.NO_COLOR = '1';
}
