/** CronJob schedules, in the standard format of robfig/cron v3 and with its error messages. */
import { parseGoDuration } from '@podwright/kube-api';

type Bounds = { min: number; max: number; names?: readonly string[]; firstName?: number };

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
/** The fields of a schedule: minute, hour, day of month, month, day of week. */
const FIELDS: readonly Bounds[] = [
  { min: 0, max: 59 },
  { min: 0, max: 23 },
  { min: 1, max: 31 },
  { min: 1, max: 12, names: MONTHS, firstName: 1 },
  { min: 0, max: 6, names: DAYS, firstName: 0 },
];
const DESCRIPTORS = ['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly'];
const EVERY = '@every ';

/** Returns what is wrong with a schedule, or `undefined` if it is valid. */
export function scheduleProblem(schedule: string): string | undefined {
  if (schedule === '') return 'empty spec string';
  if (!/^(CRON_)?TZ=/.test(schedule)) return specProblem(schedule);
  const space = schedule.indexOf(' ');
  const equals = schedule.indexOf('=');
  if (space < 0) return 'invalid schedule format: runtime error: slice bounds out of range [:-1]';
  const zone = schedule.slice(equals + 1, space);
  const problem = zoneProblem(zone);
  return problem === undefined
    ? specProblem(schedule.slice(space).trim())
    : `provided bad location ${zone}: ${problem}`;
}

/** Returns Go's error for a time zone name, or `undefined` if it is valid. `UTC` and '' are valid. */
export function zoneProblem(zone: string): string | undefined {
  if (zone === '' || zone === 'UTC' || zone === 'Local') return undefined;
  try {
    // the date formatter also accepts offsets like +01:00, which are not time zones in Go, so do not pass them to it
    if (!/^[+-]/.test(zone)) new Intl.DateTimeFormat('en', { timeZone: zone });
    else return `unknown time zone ${zone}`;
    return undefined;
  } catch {
    return `unknown time zone ${zone}`;
  }
}

function specProblem(spec: string): string | undefined {
  if (spec.startsWith('@')) return descriptorProblem(spec);
  const fields = spec.split(/\s+/).filter((field) => field !== '');
  if (fields.length !== FIELDS.length)
    return `expected exactly ${FIELDS.length} fields, found ${fields.length}: [${fields.join(' ')}]`;
  for (const [index, bounds] of FIELDS.entries()) {
    const problem = fieldProblem(fields[index]!, bounds);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function descriptorProblem(descriptor: string): string | undefined {
  if (DESCRIPTORS.includes(descriptor)) return undefined;
  if (!descriptor.startsWith(EVERY)) return `unrecognized descriptor: ${descriptor}`;
  const duration = descriptor.slice(EVERY.length);
  if (parseGoDuration(duration) !== undefined) return undefined;
  return `failed to parse duration ${duration}: time: invalid duration ${JSON.stringify(duration)}`;
}

function fieldProblem(field: string, bounds: Bounds): string | undefined {
  for (const expression of field.split(',').filter((one) => one !== '')) {
    const problem = rangeProblem(expression, bounds);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** Returns what is wrong with a number or range with an optional step (`5`, `1-5`, `*\/15`, `mon-fri`). */
function rangeProblem(expression: string, bounds: Bounds): string | undefined {
  const [range = '', stepText, ...moreSteps] = expression.split('/');
  const [low = '', high, ...moreHyphens] = range.split('-');
  const isAny = low === '*' || low === '?';
  const start = isAny ? bounds.min : parseNumber(low, bounds);
  if (typeof start === 'string') return start;
  if (!isAny && moreHyphens.length > 0) return `too many hyphens: ${expression}`;
  let end = isAny ? bounds.max : high === undefined ? start : parseNumber(high, bounds);
  if (typeof end === 'string') return end;
  if (moreSteps.length > 0) return `too many slashes: ${expression}`;
  const step = stepText === undefined ? 1 : parseNumber(stepText, { min: 0, max: 0 });
  if (typeof step === 'string') return step;
  if (stepText !== undefined && high === undefined) end = bounds.max;
  if (start < bounds.min) return `beginning of range (${start}) below minimum (${bounds.min}): ${expression}`;
  if (end > bounds.max) return `end of range (${end}) above maximum (${bounds.max}): ${expression}`;
  if (start > end) return `beginning of range (${start}) beyond end of range (${end}): ${expression}`;
  return step === 0 ? `step of range should be a positive number: ${expression}` : undefined;
}

/** Parses a value in a schedule field: a number, or a name such as `mon`. Returns an error message if it is invalid. */
function parseNumber(text: string, { names = [], firstName = 0 }: Bounds): number | string {
  const index = names.indexOf(text.toLowerCase());
  if (index >= 0) return index + firstName;
  const quoted = JSON.stringify(text);
  const failed = `failed to parse int from ${text}: strconv.Atoi: parsing ${quoted}`;
  if (!/^[+-]?\d+$/.test(text)) return `${failed}: invalid syntax`;
  if (text.length > 20 || !Number.isSafeInteger(Number(text))) return `${failed}: value out of range`;
  return Number(text) < 0 ? `negative number (${Number(text)}) not allowed: ${text}` : Number(text);
}
