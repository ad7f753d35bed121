/** Whether a URL of the owner's media is a video, by its file name. */
export const isVideo = (url: string): boolean => /\.(mp4|webm)$/.test(url);
