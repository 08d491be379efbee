/** Puts environment variables into texts of the file. */

/** A text after substitution, with the variables that went into it. */
export interface Substituted {
  readonly text: string;
  /** Names of the variables; empty for a text that stands in the file as it is. */
  readonly variables: readonly string[];
  /** Problems, each naming a variable or the spelling; never a value. */
  readonly problems: readonly { readonly found: string; readonly right: string }[];
}

/** Replaces each `${NAME}` by the variable's value; `$${` stands for `${`. Values are not substituted again. */
export function substitute(text: string, env: Readonly<Record<string, string | undefined>>): Substituted {
  const variables: string[] = [];
  const problems: { found: string; right: string }[] = [];
  const result = text.replaceAll(/\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)\}|\$\{/g, (match, name: string | undefined) => {
    if (match === "$${") return "${";
    if (name === undefined) {
      problems.push({
        found: "a '${' that no variable name and '}' follow",
        right: "write ${NAME}, or $${ for the two characters",
      });
      return "";
    }
    variables.push(name);
    const value = env[name];
    if (value === undefined || value === "") {
      problems.push({
        found: `the environment variable ${name} is ${value === undefined ? "not set" : "empty"}`,
        right: `set ${name}`,
      });
    }
    return value ?? "";
  });
  return { text: result, variables: [...new Set(variables)], problems };
}
