"""The parts of the image build: tools it runs, Debian bases, images."""
