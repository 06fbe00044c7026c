/** Checks that Grafana can load the dashboard in `contrib`, and that all its panels are complete. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Panel, readContrib, readDashboard, selectorsOf } from '../monitoring/dashboard.fixture.ts';

/** The dashboard schema version of Grafana 12, the last one with this JSON format. */
const SCHEMA_VERSION = 42;
const COLUMNS = 24;
const VARIABLES = ['node', 'namespace', 'pod'];
/** Metrics of which several of the kubelet's pages have series, so that a query must select a page with `metrics_path`. */
const ON_TWO_PAGES =
  /^(?:container_(?:cpu_usage_seconds_total|memory_working_set_bytes|start_time_seconds)|process_\w+)\b/;

const dashboard = readDashboard();
const panels = dashboard.panels.filter(({ type }) => type !== 'row');
const queries = panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })));

/** Returns the titles of the panels that fail a check. */
const failing = (check: (panel: Panel) => boolean) => panels.filter((one) => !check(one)).map(({ title }) => title);

test('the dashboard has the schema of Grafana 12, and no identity of an installation', () => {
  assert.equal(dashboard.schemaVersion, SCHEMA_VERSION);
  assert.deepEqual([dashboard.id, dashboard.uid], [null, undefined]);
  assert.ok(dashboard.title !== '' && panels.length >= 40);
});

test('ids of panels are unique, and panels are within the grid and do not overlap', () => {
  const ids = dashboard.panels.map(({ id }) => id);
  assert.equal(new Set(ids).size, ids.length);
  const cells = new Map<string, string>();
  for (const { title, gridPos } of dashboard.panels) {
    const { x, y, w, h } = gridPos;
    assert.ok(x >= 0 && y >= 0 && w > 0 && h > 0 && x + w <= COLUMNS, title);
    for (let column = x; column < x + w; column++)
      for (let line = y; line < y + h; line++) {
        const cell = `${column},${line}`;
        assert.equal(cells.get(cell), undefined, `${title} overlaps ${cells.get(cell)}`);
        cells.set(cell, title);
      }
  }
});

test('every query uses the data source that the reader chooses', () => {
  const [source, ...others] = dashboard.templating.list;
  assert.deepEqual([source?.name, source?.type, source?.query], ['datasource', 'datasource', 'prometheus']);
  assert.deepEqual(
    others.map(({ name }) => name),
    VARIABLES,
  );
  const used = [...others, ...panels, ...panels.flatMap(({ targets = [] }) => targets)];
  for (const { datasource } of used) assert.deepEqual(datasource, { type: 'prometheus', uid: `\${datasource}` });
});

test('every panel has a title of its own within its row, a unit and queries with legends', () => {
  assert.deepEqual(
    failing(({ fieldConfig }) => (fieldConfig?.defaults.unit ?? '') !== ''),
    [],
  );
  const isComplete = ({ targets = [] }: Panel) =>
    targets.length > 0 && targets.every(({ expr, legendFormat }) => expr !== '' && legendFormat !== '');
  assert.deepEqual(failing(isComplete), []);
  const refIds = ({ targets = [] }: Panel) => new Set(targets.map(({ refId }) => refId)).size === targets.length;
  assert.deepEqual(failing(refIds), []);
  let row = '';
  const titles = dashboard.panels.flatMap(({ type, title }) => {
    if (type !== 'row') return `${row}: ${title}`;
    row = title;
    return [];
  });
  assert.equal(new Set(titles).size, titles.length);
});

test('every query of a panel selects the chosen nodes, and one page of metrics that several have', () => {
  const selected = queries.flatMap(({ title, expr }) => selectorsOf(expr).map((selector) => ({ title, selector })));
  assert.deepEqual(
    selected.filter(({ selector }) => !selector.includes('node=~"$node"')),
    [],
  );
  const isAmbiguous = ({ selector }: { selector: string }) =>
    ON_TWO_PAGES.test(selector) && !selector.includes('metrics_path="');
  assert.deepEqual(selected.filter(isAmbiguous), []);
});

test('every alert has a severity and a summary', () => {
  const rules = readContrib('prometheus/alerts.yml')
    .split(/^ +- alert: /m)
    .slice(1);
  assert.ok(rules.length >= 15);
  for (const rule of rules) {
    assert.match(rule, /^Podwright\w+\n/);
    assert.match(rule, /^ +labels: \{ severity: (?:warning|critical) \}$/m, rule);
    assert.match(rule, /^ +summary: "[^"]+/m, rule);
  }
});
