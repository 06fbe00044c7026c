import type { ApiObject } from '../client/object-client.ts';
import type { ObjectFormat } from '../output/object-format.ts';
import { leftOut, namespaceImportance, renderTable } from '../output/table.ts';
import { terminalWidth } from '../output/terminal.ts';
import { print, printError } from '../output/terminal-text.ts';
import { wrappedRows } from '../output/wrapped-table.ts';
import { type Column, LABELS, labelColumn, pathColumn } from './object-tables.ts';

/** Options for printing a list of objects. */
export type PrintOptions = {
  output: ObjectFormat;
  headers: boolean;
  showLabels?: boolean;
  /** Labels to show, each in its own column. */
  labelColumns?: string[];
};

/** Prints objects of one kind as a table. Later calls append rows to the same table. */
export class TablePrinter {
  readonly #columns: Column[];
  readonly #options: PrintOptions;
  /** The widest cell printed so far in each column, to which later rows are aligned. */
  #widest: string[];
  #headersDue: boolean;
  readonly #namespaces = new Set<string>();

  constructor(columns: Column[], options: PrintOptions) {
    this.#columns = shownColumns(columns, options);
    this.#options = options;
    this.#widest = this.#columns.map(() => '');
    this.#headersDue = options.headers;
  }

  /** Prints these objects as rows of the table; prints nothing if there are none. */
  print(objects: ApiObject[]): void {
    if (objects.length === 0) return;
    const now = Date.now();
    const rows = objects.map((object) => this.#columns.map(({ cell }) => cell(object, now)));
    this.#widest = this.#widest.map((widest, column) =>
      rows.reduce((longest, row) => (row[column]!.length > longest.length ? row[column]! : longest), widest),
    );
    for (const { metadata } of objects) this.#namespaces.add(metadata.namespace);
    const header = headerOf(this.#columns, this.#namespaces).map((column) => ({
      ...column,
      title: this.#options.headers ? column.title : '',
    }));
    const width = this.#width();
    const isWrapped = this.#columns.at(-1)?.wraps === true;
    const table = [this.#widest, ...rows];
    const lines = isWrapped ? wrappedRows(header, table, width) : renderTable(header, table, width).split('\n');
    print([...(this.#headersDue ? [lines[0]!] : []), ...lines.slice(2)].join('\n'));
    if (this.#headersDue && !isWrapped) hintAt(leftOut(header, table, width));
    this.#headersDue = false;
  }

  /**
   * Returns the width that the columns must fit into, or `undefined` to show all of them. All are shown if there are no titles, because
   * readers could not see which columns are missing. All are also shown with `-o wide` for a kind without wide columns, where the option
   * means that nothing is truncated.
   */
  #width(): number | undefined {
    const { output, headers } = this.#options;
    const isWhole = output.type === 'wide' && !this.#columns.some(({ wide }) => wide);
    return isWhole || !headers ? undefined : terminalWidth();
  }
}

/** Returns the titles and importance of the columns. The namespace column is more important if the objects are in several namespaces. */
export function headerOf(columns: Column[], namespaces: ReadonlySet<string>): { title: string; importance?: number }[] {
  return columns.map(({ title, importance }) => ({
    title,
    importance: title === 'NAMESPACE' ? namespaceImportance(namespaces) : importance,
  }));
}

/** Reports the columns that are omitted because the terminal is too narrow. */
function hintAt(titles: string[]): void {
  if (titles.length === 0) return;
  printError(
    `this terminal is too narrow for ${titles.join(', ')}: pipe the output, as in '… | cat', to see all columns`,
  );
}

function shownColumns(columns: Column[], { output, showLabels, labelColumns = [] }: PrintOptions): Column[] {
  const shown =
    output.type === 'custom-columns'
      ? output.columns.map(pathColumn)
      : columns.filter(({ wide }) => wide !== true || output.type === 'wide');
  return [...shown, ...labelColumns.map(labelColumn), ...(showLabels ? [LABELS] : [])];
}

/** Prints a name as `pod/web`; the API group is included unless it is the core group, as in kubectl's `-o name`. */
export function printName({ apiVersion, kind, metadata }: ApiObject): void {
  const [group] = apiVersion.includes('/') ? apiVersion.split('/') : [];
  print(`${kind.toLowerCase()}${group === undefined ? '' : `.${group}`}/${metadata.name}`);
}
