/** Error messages of Go's `time.Parse` for metav1.Time and metav1.MicroTime. */

type Part = readonly [layout: string, pattern: RegExp];

const DATE_AND_TIME: Part[] = [
  ['2006', /^\d{4}/],
  ['-', /^-/],
  ['01', /^\d\d/],
  ['-', /^-/],
  ['02', /^\d\d/],
  ['T', /^T/],
  ['15', /^\d\d/],
  [':', /^:/],
  ['04', /^\d\d/],
  [':', /^:/],
  ['05', /^\d\d/],
];
const ZONE: Part = ['Z07:00', /^(?:Z|[+-]\d\d:\d\d)/];

/** Layouts of a Time, whose seconds can have a fraction (RFC 3339), and of a MicroTime, which must have exactly six fractional digits. */
const LAYOUTS: Record<'time' | 'microTime', Part[]> = {
  time: [...DATE_AND_TIME, ['', /^(?:[.,]\d+)?/], ZONE],
  microTime: [...DATE_AND_TIME, ['.000000', /^[.,]\d{6}/], ZONE],
};

const MAX_SHOWN = 200;

/** Returns why a string is not a time, or `undefined` if its format is valid. Value ranges are not checked, so month 13 is accepted. */
export function timeProblem(text: string, type: 'time' | 'microTime'): string | undefined {
  const layout = LAYOUTS[type].map(([part]) => part).join('');
  const prefix = `parsing time ${quote(text)} as ${quote(layout)}: `;
  let rest = text;
  for (const [part, pattern] of LAYOUTS[type]) {
    const found = pattern.exec(rest);
    if (found === null) return `${prefix}cannot parse ${quote(rest)} as ${quote(part)}`;
    rest = rest.slice(found[0].length);
  }
  return rest === '' ? undefined : `parsing time ${quote(text)}: extra text: ${quote(rest)}`;
}

const quote = (text: string): string => JSON.stringify(text.slice(0, MAX_SHOWN));
