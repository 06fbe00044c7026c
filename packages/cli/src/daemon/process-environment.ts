/** Parses the variables of an environment in the format of environ(7), `NAME=VALUE`. Other strings are left out. */
export function environmentOf(variables: string[]): Record<string, string> {
  return Object.fromEntries(
    variables.flatMap((variable) => {
      const [, name, value] = /^([^=]+)=(.*)$/s.exec(variable) ?? [];
      return name === undefined ? [] : [[name, value!]];
    }),
  );
}
