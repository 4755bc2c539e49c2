package small

func ahead() {}
