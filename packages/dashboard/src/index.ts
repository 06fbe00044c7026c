export { openInBrowser } from './open-browser.ts';
export { type Dashboard, type DashboardOptions, startDashboard } from './start-dashboard.ts';
