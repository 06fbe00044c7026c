/** Named string formats (apiserver, pkg/cel/library/format.go). */
import {
  labelValueProblems,
  nameIsDns1035Label,
  nameIsDnsLabel,
  nameIsDnsSubdomain,
  qualifiedNameProblems,
} from '@podwright/kube-kinds';
import { parseTimestamp } from '../values/times.ts';
import { Opaque, Optional, type Value, ValueList } from '../values/values.ts';
import { type Evaluation, type FunctionTable, overload, patternCostOf } from './overload.ts';
import { urlProblem } from './urls.ts';

const TYPE = 'kubernetes.NamedFormat';

type Problems = (text: string) => readonly string[];

class Format extends Opaque {
  readonly typeName = TYPE;
  readonly name: string;
  readonly problems: Problems;
  /** Length of upstream's regular expression for this format, which determines the cost of validating a string. */
  readonly patternLength: number;

  constructor(name: string, patternLength: number, problems: Problems) {
    super();
    this.name = name;
    this.problems = problems;
    this.patternLength = patternLength;
  }

  equals(other: Opaque): boolean {
    return other instanceof Format && other.name === this.name;
  }
}

const must =
  (expression: RegExp, problem: string): Problems =>
  (text) =>
    expression.test(text) ? [] : [problem];

const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const DATE_TIME_LENGTH = 71;

const FORMATS: readonly (readonly [string, number, Problems])[] = [
  ['dns1123Label', 30, (text) => nameIsDnsLabel(text, false)],
  ['dns1123Subdomain', 60, (text) => nameIsDnsSubdomain(text, false)],
  ['dns1035Label', 30, (text) => nameIsDns1035Label(text, false)],
  ['qualifiedName', 60, qualifiedNameProblems],
  ['dns1123LabelPrefix', 30, (text) => nameIsDnsLabel(text, true)],
  ['dns1123SubdomainPrefix', 60, (text) => nameIsDnsSubdomain(text, true)],
  ['dns1035LabelPrefix', 30, (text) => nameIsDns1035Label(text, true)],
  ['labelValue', 40, labelValueProblems],
  ['uri', 1103, (text) => [urlProblem(text) ?? []].flat()],
  ['uuid', 70, must(UUID, 'does not match the UUID format')],
  ['byte', 84, must(BASE64, 'invalid base64')],
  ['date', DATE_TIME_LENGTH, (text) => (isDate(text) ? [] : ['invalid date'])],
  ['datetime', DATE_TIME_LENGTH, (text) => (isDateTime(text) ? [] : ['invalid datetime'])],
];

const isDate = (text: string): boolean =>
  /^\d{4}-\d\d-\d\d$/.test(text) && parseTimestamp(`${text}T00:00:00Z`) !== undefined;

const isDateTime = (text: string): boolean =>
  isDate(text.slice(0, 10)) &&
  /^.{10}[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?$/i.test(text) &&
  !Number.isNaN(Date.parse(text.replace(',', '.').replace(' ', 'T')));

/** Returns the functions that look up formats by name and validate strings. */
export function formatFunctions(): FunctionTable {
  const formats = new Map(FORMATS.map(([name, length, problems]) => [name, new Format(name, length, problems)]));
  const named = [...formats].map(([name, format]) => [`format.${name}`, [overload(`() -> ${TYPE}`, () => format)]]);
  return {
    ...Object.fromEntries(named),
    'format.named': [overload(`(string) -> optional_type(${TYPE})`, (name: string) => new Optional(formats.get(name)))],
    validate: [
      overload(
        `${TYPE}.(string) -> optional_type(list(string))`,
        ({ problems }: Format, text: string, work: Evaluation) => {
          work.spend(text.length);
          const found = problems(text);
          return found.length === 0 ? new Optional() : new Optional(new ValueList(found));
        },
        ([format, text]: readonly Value[]) => patternCostOf(text!, (format as Format).patternLength),
      ),
    ],
  };
}
