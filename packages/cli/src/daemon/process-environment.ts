/** The variables of an environment in the form of environ(7), `NAME=VALUE`. Strings of another form are left out. */
export function environmentOf(variables: string[]): Record<string, string> {
  return Object.fromEntries(
    variables.flatMap((variable) => {
      const [, name, value] = /^([^=]+)=(.*)$/s.exec(variable) ?? [];
      return name === undefined ? [] : [[name, value!]];
    }),
  );
}
