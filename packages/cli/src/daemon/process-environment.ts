/** Parses environment variables of the form `NAME=VALUE` (environ(7)). Other strings are ignored. */
export function environmentOf(variables: string[]): Record<string, string> {
  return Object.fromEntries(
    variables.flatMap((variable) => {
      const [, name, value] = /^([^=]+)=(.*)$/s.exec(variable) ?? [];
      return name === undefined ? [] : [[name, value!]];
    }),
  );
}
