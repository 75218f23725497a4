// Package music plays the songs of one folder: it decodes WAV, MP3, FLAC and Ogg Vorbis, keeps time, and
// hands the sound to an [Output]. It is the player behind the host module music, one for a whole program,
// so that a song goes on when the run that began it is over.
//
// Time is counted in samples of the song. The length is that of what is heard: of WAV what is in the file,
// whatever its header says; of FLAC and Ogg Vorbis what the stream says, or, where it does not, what decoding
// counts; of MP3 all frames, without the frame that is an index and without what the encoder says that it
// added. A song that has less than it says ends there with an error.
//
// Files are hostile. They are read as they are played, never as a whole; what their headers say is checked
// before anything is made of that size; a decoder that panics ends the song and nothing else; and however a
// file is made, one step of decoding reads a bounded part of it.
package music
