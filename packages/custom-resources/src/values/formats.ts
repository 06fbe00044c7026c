/** String formats checked by the server (kube-openapi, strfmt). Unknown formats allow any string. */
import { isIP, isIPv4, isIPv6 } from 'node:net';

const matches = (expression: RegExp) => (text: string) => expression.test(text);

const UUID = '[0-9a-f]{8}-?[0-9a-f]{4}-?';
const uuid = (version: string, variant = '[0-9a-f]') =>
  matches(new RegExp(`^${UUID}${version}[0-9a-f]{3}-?${variant}[0-9a-f]{3}-?[0-9a-f]{12}$`, 'i'));

const DATE = /^\d{4}-\d\d-\d\d$/;
const DATE_TIME = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?$/i;

function isDate(text: string): boolean {
  if (!DATE.test(text)) return false;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

const isDateTime = (text: string): boolean =>
  DATE_TIME.test(text) &&
  isDate(text.slice(0, 10)) &&
  !Number.isNaN(Date.parse(text.replace(',', '.').replace(' ', 'T')));

const DURATION =
  /^(?:[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|\u00b5s|\u03bcs|ms|s|m|h))+$|^\d+ *(?:ns|nano|nanoseconds?|us|ms|milliseconds?|s|sec|seconds?|m|min|minutes?|h|hr|hours?|d|days?|w|weeks?)$|^0$/;

function isUri(text: string): boolean {
  return /^(?:[a-z][a-z\d+.-]*:[^\s]*|\/[^\s]*)$/i.test(text);
}

function isCidr(text: string): boolean {
  const [address = '', bits = '', ...more] = text.split('/');
  const family = isIP(address);
  return more.length === 0 && family !== 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128);
}

const LABEL = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;
const isLabels = (text: string) => text.length <= 253 && text.split('.').every((label) => LABEL.test(label));

const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  date: isDate,
  'date-time': isDateTime,
  datetime: isDateTime,
  duration: (text) => text.length < 100 && DURATION.test(text),
  ipv4: isIPv4,
  ipv6: isIPv6,
  cidr: isCidr,
  mac: matches(/^(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}(?:(?:[:-][0-9a-f]{2}){2})?$|^(?:[0-9a-f]{4}\.){2}[0-9a-f]{4}$/i),
  uuid: uuid('[0-9a-f]'),
  uuid3: uuid('3'),
  uuid4: uuid('4', '[89ab]'),
  uuid5: uuid('5', '[89ab]'),
  byte: matches(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/),
  uri: isUri,
  email: (text) => text.length <= 320 && /^[^\s@<>]+@[^\s@<>]+$/.test(text),
  hostname: (text) => isLabels(text.toLowerCase().replace(/\.$/, '')),
  hexcolor: matches(/^#?(?:[0-9a-f]{3}|[0-9a-f]{6})$/i),
  'k8s-short-name': matches(LABEL),
  'k8s-long-name': isLabels,
};

/** Whether a string conforms to a format. */
export const hasFormat = (text: string, format: string): boolean =>
  !Object.hasOwn(FORMATS, format) || FORMATS[format]!(text);
