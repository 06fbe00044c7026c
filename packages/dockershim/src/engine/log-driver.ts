/** The only log driver whose files kubelets can read. */
const CRI_LOG_DRIVER = 'json-file';

/** Whether logs of this driver are symlinked to the CRI log path. All others are read through the Engine. */
export function isCriLogDriver(driver: string): boolean {
  return driver === CRI_LOG_DRIVER;
}
