/** The Grafana dashboard and the files for Prometheus in `contrib`, and the queries in them. */
import { readFileSync } from 'node:fs';

const CONTRIB = new URL('../../contrib/', import.meta.url);

export type DataSource = { type: string; uid: string };
export type Target = { refId: string; datasource: DataSource; expr: string; legendFormat: string };
export type Panel = {
  id: number;
  type: string;
  title: string;
  gridPos: { x: number; y: number; w: number; h: number };
  datasource?: DataSource;
  fieldConfig?: { defaults: { unit?: string } };
  targets?: Target[];
};
export type Variable = { name: string; type: string; query: string | { query: string }; datasource?: DataSource };
export type Dashboard = {
  id: null;
  uid?: string;
  title: string;
  schemaVersion: number;
  panels: Panel[];
  templating: { list: Variable[] };
};

export const readContrib = (path: string): string => readFileSync(new URL(path, CONTRIB), 'utf8');

export const readDashboard = (): Dashboard => JSON.parse(readContrib('grafana/podwright.json')) as Dashboard;

/** Returns a query as Grafana sends it if all variables are set to `All`. `interval` replaces `$__rate_interval`. */
export function filledIn(query: string, interval: string): string {
  return query.replaceAll('$__rate_interval', interval).replaceAll(/"\$(?:node|namespace|pod)"/g, '".*"');
}

/** Returns the series that an expression selects: each metric with its matchers, such as `up{job="a"}`. */
export function selectorsOf(expression: string): string[] {
  const text = expression.replaceAll(/\b(?:by|without|on|ignoring)\s*\([^)]*\)/g, '');
  return [...text.matchAll(/(?<![\w"])(?:up|[a-z]\w*_\w+)(?![\w(])(?:\{[^}]*\})?/g)].map(([selector]) => selector);
}

/** Returns the metric's name in the scraped page: the selector without matchers and without a histogram's suffix `_bucket`. */
export const familyOf = (selector: string): string => selector.replace(/\{.*$/s, '').replace(/_bucket$/, '');
