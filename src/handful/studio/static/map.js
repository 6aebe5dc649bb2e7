export function showMap() {}
export function togglePlay() {}
